"""Work done beside the web app, by processes of their own."""
