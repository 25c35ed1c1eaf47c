"""Who depends on whom: one file per structure learner."""
