// The refusal of a response that declares itself partial.
import { describe, expect, it } from 'vitest';
import { partialReason, totalReason } from '../../../src/service/reader.ts';
import { client, json, serve } from './loopback.ts';

describe('a Link header', () => {
  it.each([
    '<https://host/skill?page=2>; rel="next"',
    '<https://host/skill?page=2>; rel=next',
    '<https://host/skill?page=2>;rel=NEXT',
    '<https://host/skill?page=2> ; REL = "Next"',
    '<x>; rel="last next"',
    '<x>; rel="prev\tnext"',
    '<a>; rel="prev", <b>; rel="next"',
    '<a;rel=prev,b>; title="a, b; c"; rel="next"',
    '<a>; title="say \\"no\\""; rel=next',
    '<a>; rel="n\\ext"',
    ', ,<a>;; rel=next',
    'what is this, <b>; rel=next',
    '<a>; rel=prev; rel=next',
    '<>;rel="next";type="application/json"',
    "<a>; rel='next'",
    "<a>;rel='prev next'",
    "<a>; rel*=UTF-8''next",
    '<a>; rel="http://www.iana.org/assignments/relation/next"',
  ])('leads to a next page: %s', (link) => {
    expect(partialReason(200, { link })).toContain('rel="next"');
  });

  it.each([
    '',
    '<https://host/skill?rel=next>; rel="prev"',
    '<a;rel=next>; rel=prev',
    '<a>; title="; rel=next"',
    '<a>; title="\\"; rel=next"',
    '<a>; rel="next-archive"',
    '<a>; rel="https://host/next"',
    '<a>; rev="next"',
    'rel',
    '<a>; rel',
    '<a>; rel="',
  ])('leads to no next page: %j', (link) => {
    expect(partialReason(200, { link })).toBeNull();
  });
});

describe('a header of pages', () => {
  it.each(['2', ' 17 ', 'https://host/skill?page=2'])('leads to a next page: %j', (value) => {
    expect(partialReason(200, { 'x-next-page': value })).toBe('an X-Next-Page header');
  });

  it.each(['', ' ', '0', '-1', 'null', 'false'])('leads to no next page: %j', (value) => {
    expect(partialReason(200, { 'x-next-page': value })).toBeNull();
  });

  it.each(['3', ' 03', '99'])('reports more objects than two: %j', (value) => {
    expect(totalReason({ 'x-total-count': value }, 2)).toBe('the X-Total-Count header reports more objects');
  });

  it.each([undefined, '', '2', '1', '-3', '2.5', '3 of 4', '0x10', 'many'])(
    'reports no more objects than two: %j',
    (value) => {
      expect(totalReason({ 'x-total-count': value }, 2)).toBeNull();
    },
  );
});

describe('a list', () => {
  const part = [{ _id: '1', name: 'Go' }];

  it.each([
    ['status 206', 206, {}],
    ['a Content-Range header', 200, { 'content-range': 'items 0-99/300' }],
    ['an X-Next-Page header', 200, { 'x-next-page': '2' }],
    ['the X-Total-Count header reports more objects', 200, { 'x-total-count': '2' }],
    ['a Link header with rel="next"', 200, { link: ['<a>; rel=first', '<b>; rel="next last"'] }],
  ])(
    'that declares itself partial by %s is refused, and not requested again',
    async (what, status, headers) => {
      const server = await serve((response) => json(response, part, status, headers));
      const { reader } = await client(server.url);
      for (const [list, name] of [
        [reader.listEntries('skill'), 'skills'],
        [reader.listEntries('role'), 'roles'],
        [reader.listResources(), 'resources'],
      ] as const) {
        const error: unknown = await list.catch((reason: unknown) => reason);
        expect(error).toMatchObject({ kind: 'malformed', code: 'malformed_response' });
        expect(String(error)).toContain(`the list of ${name} is incomplete (${what})`);
      }
      expect(server.arrived).toHaveLength(3);
    },
  );
});
