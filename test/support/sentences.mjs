// Makes Stryker ignore texts for people. Names of rules, codes and statuses are single words; what has a space between
// two words is a sentence, and its wording is no behaviour. What a sentence computes on the way is not ignored.

const REASON = 'the wording of a text for people is free';

function isSentence(text) {
  return /[\p{L}\p{N}”,;:.)]\s|\s[\p{L}(“]/u.test(text);
}

/** Whether a template puts in names as they are: nothing in it could be mutated but its text. */
function isPlain(node) {
  switch (node.type) {
    case 'Identifier':
      return true;
    case 'MemberExpression':
      return !node.computed && isPlain(node.object);
    case 'CallExpression':
      return (
        node.callee.type === 'MemberExpression' &&
        node.callee.object.name === 'JSON' &&
        node.arguments.every(isPlain)
      );
    default:
      return false;
  }
}

export const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'sentences',
    value: {
      shouldIgnore({ node }) {
        if (node.type === 'StringLiteral' && isSentence(node.value)) return REASON;
        if (node.type !== 'TemplateLiteral' || !node.expressions.every(isPlain)) return undefined;
        return node.quasis.some(({ value }) => isSentence(value.raw)) ? REASON : undefined;
      },
    },
  },
];
