// A process that ends when it receives a message, without a response.
process.on('message', () => process.exit(3));
