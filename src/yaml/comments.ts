// Finds the comments in a piece of YAML.
import { Lexer } from 'yaml';

/** The comments in a text that is about to be replaced, which would be lost with it. */
export function commentsIn(text: string): string[] {
  return [...new Lexer().lex(text)].filter((token) => token.startsWith('#'));
}
