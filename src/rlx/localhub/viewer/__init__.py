"""The dataset viewer's API over the files of served datasets."""
