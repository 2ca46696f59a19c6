"""What can be set, where it is set, and where the files are.

config            the settings: what can be set, checked where it is declared
settings_file     the settings in force, and a file's mistakes with their lines
changed_settings  single values of the file changed, everything else as it is
themes            the names of the screen library's themes, so that settings are checked without importing it
locations         where the files are
identity          who is asking, and with which key the model's server is asked
"""
