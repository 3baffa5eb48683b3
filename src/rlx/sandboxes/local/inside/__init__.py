"""What runs under the host's own interpreter in or around a sandbox: standard library only, Python 3.9 on."""
