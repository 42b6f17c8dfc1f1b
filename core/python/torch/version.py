cuda = hip = git_version = None
