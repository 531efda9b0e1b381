// A dynamic import by Node.js itself. The test runner replaces those in its own modules by one that rewrites the module.
module.exports = (url) => import(url);
