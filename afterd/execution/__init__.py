"""Other people's programs: started, bounded, watched, ended, and their outcomes told."""
