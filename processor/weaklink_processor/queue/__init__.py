"""The durable queue between the receiver and everything after it: what is acknowledged is in here, fsynced."""
