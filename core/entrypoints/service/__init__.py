"""What people may see and do, within their tenant and roles; the API and the console ask here."""
