// Detects a response that is only one page of a list. rolecall would create the entries of the other pages again.

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Why the response is only a part of a list, or null for a complete one. */
export function partialReason(status: number, headers: Headers): string | null {
  if (status === 206) return 'status 206';
  if (headers['content-range'] !== undefined) return 'a Content-Range header';
  if (valuesOf(headers['link']).some(hasNext)) return 'a Link header with rel="next"';
  if (valuesOf(headers['x-next-page']).some(isPage)) return 'an X-Next-Page header';
  return null;
}

/** Why a list of so many objects is only a part of the complete one, or null. */
export function totalReason(headers: Headers, objects: number): string | null {
  const totals = valuesOf(headers['x-total-count']).filter((value) => /^\d+$/.test(value.trim()));
  return totals.some((total) => Number(total) > objects)
    ? 'the X-Total-Count header reports more objects'
    : null;
}

/** A page number or an address. The last page has an empty value, and other values have no common meaning. */
function isPage(value: string): boolean {
  return /^(?:0*[1-9]\d*|https?:\/\/\S+)$/i.test(value.trim());
}

function valuesOf(header: string | string[] | undefined): readonly string[] {
  return header === undefined ? [] : [header].flat();
}

/** Whether a Link header (RFC 8288) has a link to a next page. */
function hasNext(header: string): boolean {
  return linksOf(header).some((parameters) =>
    parameters.some(
      ({ name, value }) =>
        (name === 'rel' || name === 'rel*') &&
        value
          .toLowerCase()
          .split(/[ \t]+/)
          .some(isNext),
    ),
  );
}

/** `next` as a plain text, as `UTF-8''next`, as its IANA URL, or (although not allowed) in single quotes. */
function isNext(relation: string): boolean {
  const name = relation.replace(/^[\w-]+'[\w-]*'/, '').replace(/'/g, '');
  return name === 'next' || /^https?:\/\/www\.iana\.org\/assignments\/(?:link-)?relations?\/next$/.test(name);
}

interface Parameter {
  /** In lower case. */
  readonly name: string;
  readonly value: string;
}

/** The parameters of each link, in linear time. Invalid links are skipped up to the next comma. */
function linksOf(header: string): readonly (readonly Parameter[])[] {
  const links: Parameter[][] = [];
  let link: Parameter[] = [];
  for (const { text, end } of partsOf(header)) {
    const parameter = parameterOf(text);
    if (parameter !== undefined) link.push(parameter);
    if (end === ';') continue;
    links.push(link);
    link = [];
  }
  return links;
}

/** The pieces between semicolons and commas, except those within `<…>` and within quotes. */
function* partsOf(header: string): Generator<{ readonly text: string; readonly end: ';' | ',' }> {
  let start = 0;
  let enclosedBy: '"' | '>' | null = null;
  for (let at = 0; at < header.length; at += 1) {
    const character = header[at];
    if (enclosedBy === '"' && character === '\\') at += 1;
    else if (enclosedBy !== null) enclosedBy = character === enclosedBy ? null : enclosedBy;
    else if (character === '"') enclosedBy = '"';
    else if (character === '<') enclosedBy = '>';
    else if (character === ';' || character === ',') {
      yield { text: header.slice(start, at), end: character };
      start = at + 1;
    }
  }
  yield { text: header.slice(start), end: ',' };
}

/** `name=value` or `name="value"`, with white space around each part. */
function parameterOf(text: string): Parameter | undefined {
  const equals = text.indexOf('=');
  if (equals < 0 || text.trimStart().startsWith('<')) return undefined;
  const value = text.slice(equals + 1).trim();
  return {
    name: text.slice(0, equals).trim().toLowerCase(),
    value: value.startsWith('"') ? value.replace(/^"|"$/g, '').replace(/\\(.)/gs, '$1') : value,
  };
}
