// What a YAML syntax error means to the person who wrote the file. The parser's own words may repeat the text that
// they stumbled over, and that text may be a token, so only those that never do are passed on.
import type { YAMLError } from 'yaml';
import { TOO_DEEP } from './raw-text-checks.ts';
import type { Unclosed } from './unclosed.ts';

const MESSAGES: Partial<Record<YAMLError['code'], string>> = {
  ALIAS_PROPS: 'an alias (*name) cannot have a tag or an anchor; if this is a name, quote it',
  BAD_ALIAS: 'YAML reads & and * at the start of a value as an anchor and an alias; quote the value',
  BAD_COLLECTION_TYPE: 'YAML tags (!) are not used here; if this is a name, quote it',
  BAD_DIRECTIVE: 'a line that starts with % is a YAML directive; quote the value or take the line out',
  BAD_DQ_ESCAPE:
    'this is no escape that YAML knows within double quotes; write \\\\ for a backslash, or use single quotes',
  BAD_INDENT:
    'the indentation does not fit; indent every entry of a list or mapping by the same number of spaces',
  BAD_PROP_ORDER: 'an anchor or a tag stands in a wrong place; if this is a name, quote it',
  BAD_SCALAR_START: 'a plain value cannot start with this character; quote the value',
  BLOCK_AS_IMPLICIT_KEY: 'there is a second ": " in this line; quote the value, or start a new line',
  BLOCK_IN_FLOW:
    'an indented list or mapping cannot stand within [ ] or { }; close the bracket first, or write it with commas',
  KEY_OVER_1024_CHARS: 'a key is longer than YAML allows; is a quote or a colon misplaced?',
  MULTILINE_IMPLICIT_KEY: 'a key must stand in one line; is a colon or a quote missing?',
  MULTIPLE_ANCHORS: 'a value can have one anchor (&name) only; if this is a name, quote it',
  MULTIPLE_DOCS:
    'the file holds several YAML documents (---); keep one and move the others to files of their own',
  MULTIPLE_TAGS: 'a value can have one tag (!name) only; if this is a name, quote it',
  NON_STRING_KEY: 'a key must be plain text; if this is a name, quote it',
  RESOURCE_EXHAUSTION: TOO_DEEP,
  TAB_AS_INDENT: 'a tab indents this line; use spaces',
  TAG_RESOLVE_FAILED: 'YAML tags (!name) are not used here; if this is a name, quote it',
  UNEXPECTED_TOKEN:
    'YAML cannot make sense of this; is a quote, a comma, a colon or a bracket missing or left over?',
};

/** For `*name` without a `&name` before it: mostly a name that begins with a star. */
export const LOOSE_ALIAS = 'YAML reads * at the start of a value as an alias; quote the value';

/** For a bracket or a quote whose other half was missed in line `noticed`. */
export function unclosedMessage({ opening, closing }: Unclosed, noticed: number): string {
  return `the ${opening} that opens here is not closed (noticed in line ${noticed}); write its ${closing}`;
}

/** One sentence for a parser's error code. */
export function syntaxMessage(code: YAMLError['code'], parserMessage: string): string {
  // These are constant texts that name the missing character.
  if (code === 'MISSING_CHAR')
    return `YAML: ${parserMessage.charAt(0).toLowerCase()}${parserMessage.slice(1)}; write what is missing`;
  return MESSAGES[code] ?? 'this is not valid YAML; quote the value or take it out';
}
