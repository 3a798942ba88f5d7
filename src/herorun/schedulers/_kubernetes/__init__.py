"""What only Kubernetes knows: requests and answers of the API server, job kinds, pods and logs."""
