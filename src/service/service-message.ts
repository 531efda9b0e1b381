// Extracts the service's own message from the body of an error response, in any format: one short line without secrets.
import type { Secret } from '../core/secret.ts';

/** Only this much of a body is read, because messages are at its start. */
export const LONGEST_REFUSAL_BYTES = 65_536;

const LONGEST_MESSAGE = 300;
const MOST_TEXTS = 20;
const DEEPEST = 5;

/** Fields that contain messages, the most specific first. */
const FIELDS = [
  'detail',
  'details',
  'message',
  'msg',
  'errors',
  'error',
  'error_description',
  'description',
  'reason',
  'title',
  'type',
] as const;

export interface MessageOptions {
  readonly token: Pick<Secret, 'scrub'>;
  /** Whether the message is about people, so that its numbers may be salaries. */
  readonly aboutPeople: boolean;
}

/** One line, or undefined if the body has no message, or only one about salaries. */
export function serviceMessage(body: string, { token, aboutPeople }: MessageOptions): string | undefined {
  const texts = [...new Set(textsOf(body.slice(0, LONGEST_REFUSAL_BYTES)))].filter((text) => !isSalary(text));
  // Line breaks are removed before the token, because the token could be split by one.
  const line = token.scrub(onOneLine(texts.slice(0, MOST_TEXTS).join('; ')));
  const message = aboutPeople ? line.replace(/\p{Nd}(?:[.,]?\p{Nd}){2,}/gu, '…') : line;
  return message === '' ? undefined : cut(message);
}

/** Whether a text or the name of a field mentions a salary. */
export function isSalary(text: string): boolean {
  return /salar/i.test(text);
}

function cut(text: string): string {
  if (text.length <= LONGEST_MESSAGE) return text;
  return `${text.slice(0, LONGEST_MESSAGE - 1).replace(/\p{Surrogate}$/u, '')}…`;
}

/** In one line, because a line break or an invisible character of the service could forge another message. */
function onOneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}]+/gu, ' ').trim();
}

function textsOf(body: string): readonly string[] {
  const text = body.trim();
  if (isWebPage(text)) return [pageSummary(text)];
  if (text.startsWith('<')) return [text.replace(/<[^<>]{0,500}>/g, ' ').trim()];
  try {
    return textsIn(JSON.parse(text), 0);
  } catch {
    // Of broken JSON, it is unknown which value belongs to a salary.
    return text === '' || /^[[{"]/.test(text) ? [] : [text];
  }
}

/** Whether a body is a page for people, which the service does not send. */
export function isWebPage(body: string): boolean {
  return /^\s*(?:<\?xml[^<>]{0,200}>\s*)?<(?:!doctype|html|head|body|!--)/i.test(body);
}

/** `a web page, “502 Bad Gateway”`: only the title of a page is used. */
function pageSummary(page: string): string {
  const open = /<title\b[^<>]{0,200}>/i.exec(page);
  const rest = open === null ? '' : page.slice(open.index + open[0].length);
  const title = rest.slice(0, Math.max(0, rest.indexOf('<'))).trim();
  return title === '' ? 'a web page' : `a web page, “${title.slice(0, 200)}”`;
}

function textsIn(value: unknown, depth: number): readonly string[] {
  if (typeof value === 'string') return value.trim() === '' ? [] : [value];
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return [];
  if (Array.isArray(value)) return value.slice(0, MOST_TEXTS).flatMap((item) => textsIn(item, depth + 1));
  const object = value as Readonly<Record<string, unknown>>;
  if (typeof object['msg'] === 'string') return validationError(object);
  const known = FIELDS.flatMap((field) => (field === 'type' ? [] : textsIn(object[field], depth + 1)));
  return known.length > 0 ? known : labelled(object, depth);
}

/** `body.name: too short`. Uses `type` if the message mentions a salary; never uses `input` and `ctx`. */
function validationError({ loc, msg, type }: Readonly<Record<string, unknown>>): readonly string[] {
  const message = [msg, type].find((text) => typeof text === 'string' && !isSalary(text));
  if (typeof message !== 'string') return [];
  const place = Array.isArray(loc)
    ? loc.filter((part) => ['string', 'number'].includes(typeof part)).join('.')
    : '';
  return [place === '' || isSalary(place) ? message : `${place}: ${message}`];
}

/** `{"name": ["is taken"]}` as `name: is taken`. */
function labelled(object: Readonly<Record<string, unknown>>, depth: number): readonly string[] {
  return Object.entries(object)
    .filter(([field]) => !isSalary(field) && !['input', 'ctx'].includes(field))
    .slice(0, MOST_TEXTS)
    .flatMap(([field, value]) => textsIn(value, depth + 1).map((text) => `${field}: ${text}`));
}
