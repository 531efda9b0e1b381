// External text is read in linear time: a megabyte of the worst shapes for each function that receives external text.
import { describe, expect, it } from 'vitest';
import { parseBaseUrl, parseGitUrl, parseWebhookUrl } from '../../src/config/addresses.ts';
import { cronProblem } from '../../src/config/dates-and-schedules.ts';
import { shownRemote, withoutUsers } from '../../src/core/remote-address.ts';
import { parseDuration } from '../../src/core/durations-and-sizes.ts';
import { nameProblem, oddCharacters } from '../../src/core/name-rules.ts';
import { textProblems } from '../../src/config/yaml/syntax-checks.ts';
import { stripped } from '../../src/config/secrets.ts';
import { parseRetryAfter } from '../../src/core/backoff.ts';
import { globMatcher } from '../../src/core/names.ts';
import { Secret } from '../../src/core/secret.ts';
import { localPath } from '../../src/daemon/http/context.ts';
import { codeSpan, escapeProse } from '../../src/report/markdown.ts';
import { inVisibleJson, visible, visibleLines, visibleName } from '../../src/report/escape-invisible.ts';
import { shortCommit } from '../../src/report/formatting.ts';
import { partialReason } from '../../src/service/reader.ts';
import { serviceMessage } from '../../src/service/service-message.ts';

const MEGABYTE = 1_000_000;

/** Shapes at which patterns that overlap with themselves take quadratic time; the end makes them fail late. */
const UNITS = 'a / \\ \' " < - @ : ? 0 a: :// a:// 1, = ; , <title ## ` | remote:'
  .split(' ')
  .concat([' ', '\n', '[ ', '- ', '\u0301', '\u200d', '👩\u200d', '\u202e', 'pack ', 'object ']);
const SHAPES = UNITS.map((unit) => [unit, `x${unit.repeat(Math.ceil(MEGABYTE / unit.length))}§!`] as const);

const token = new Secret('a-token-that-nobody-echoes');
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  withoutUsers,
  scrub: (text) => token.scrub(text),
  serviceMessage: (body) => serviceMessage(body, { token, aboutPeople: true }),
  link: (link) => partialReason(200, { link }),
  retryAfter: (text) => parseRetryAfter(text, 0, Date.parse),
  nameProblem,
  oddCharacters,
  textProblems,
  globMatcher: (text) => globMatcher('*a*b*')(text.slice(0, 1000)),
  parseBaseUrl,
  parseGitUrl,
  parseWebhookUrl,
  shownRemote,
  cronProblem,
  parseDuration,
  stripped,
  localPath,
  visible,
  visibleLines,
  visibleName,
  inVisibleJson,
  codeSpan,
  escapeProse,
  shortCommit,
};

/** Quadratic time would be minutes. Other tests share the machine, so only this process's own time counts. */
const LONGEST_MS = 3000;

describe('a megabyte', () => {
  it.each(Object.entries(READERS))(
    'of any shape is read in linear time by %s',
    { timeout: 300_000 },
    (_, read) => {
      const slow = SHAPES.flatMap(([unit, text]) => {
        const before = process.cpuUsage();
        read(text);
        const { user, system } = process.cpuUsage(before);
        const ms = (user + system) / 1000;
        return ms > LONGEST_MS ? [`${JSON.stringify(unit)}: ${Math.round(ms)} ms`] : [];
      });
      expect(slow).toEqual([]);
    },
  );
});
