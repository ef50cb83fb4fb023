"""What the clients send: data sets, lengths, arrivals."""
