"""Rollouts as they are kept: a folder of files each, which are the truth, and an index that is made from them."""
