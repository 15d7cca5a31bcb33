"""A gate's verdict as people and machines read it. What spans said is escaped in each form as that form asks."""
