"""What spans do not say of memory, what that costs, and what mends it."""
