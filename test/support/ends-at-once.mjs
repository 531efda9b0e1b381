// A process that ends when it gets a message, without an answer.
process.on('message', () => process.exit(3));
