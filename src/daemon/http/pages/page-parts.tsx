// The parts that pages share: cards, links to accounts, buttons, filters, notices, pagers, the heads of tables, and the progress of
// a run that works, which the script of the page replaces while it changes.
import { type Child, useContext } from 'hono/jsx';
import type { RunRecord } from '../../../core/schemas.ts';
import { MAX_REASON, type OperatorAction } from '../../../core/operator.ts';
import { type Line, type Tone, toned } from '../../../report/document.ts';
import { visible } from '../../../report/escape-invisible.ts';
import { Code, Instant, Text, Inline, PageTime } from '../../../report/html.tsx';
import { accountPath, useFrame } from '../context.ts';
import type { RunProgress } from '../../../core/ports/journal-reader.ts';
import { count, waitText } from '../../../report/formatting.ts';

export function AccountLink({ name }: { readonly name: string }) {
  return <a href={accountPath(name)}>{visible(name)}</a>;
}

interface CardProps {
  readonly title: Child;
  /** Beside the title. */
  readonly aside?: Child;
  readonly id?: string;
  readonly tone?: 'good' | 'warn' | 'bad';
  readonly children: Child;
}

export function Card({ title, aside, id, tone, children }: CardProps) {
  return (
    <section class={`card ${tone ?? ''}`} id={id}>
      <div class="title">
        <h2>{title}</h2>
        {aside === undefined ? null : <span class="quiet">{aside}</span>}
      </div>
      {children}
    </section>
  );
}

interface ActionButtonProps {
  readonly account: string;
  readonly action: OperatorAction;
  readonly label: string;
  /** For `approve`, which is the most important button of its page: the plan that the page shows. */
  readonly digest?: string;
}

/** A form that posts, since following a link must not change anything. A pause has a reason, so its form unfolds. */
export function ActionButton({ account, action, label, digest }: ActionButtonProps) {
  const form = (
    <form method="post" action={`${accountPath(account)}/${action}`}>
      {digest === undefined ? null : <input type="hidden" name="digest" value={digest} />}
      {action === 'pause' ? (
        <label>
          Reason for the pause{' '}
          <input type="text" name="reason" maxlength={MAX_REASON} placeholder="optional" />
        </label>
      ) : null}
      <button type="submit" class={digest === undefined ? '' : 'main'}>
        {label}
      </button>
    </form>
  );
  if (action !== 'pause') return form;
  return (
    <details class="menu">
      <summary>Pause…</summary>
      {form}
    </details>
  );
}

/** When the run began, as a link to its page. */
export function RunLink({ run }: { readonly run: Pick<RunRecord, 'id' | 'startedAt'> | null }) {
  if (run === null) return <span class="quiet">never</span>;
  return (
    <a href={`/runs/${run.id}`}>
      <Instant at={run.startedAt} />
    </a>
  );
}

/** As many digits as git shows. */
export function ShortCommit({ run }: { readonly run: Pick<RunRecord, 'configCommit'> | null }) {
  const commit = run?.configCommit ?? null;
  const { commitsAt } = useFrame();
  if (commit === null) return <span class="quiet">–</span>;
  return <Code text={commit.slice(0, 7)} url={commitsAt && commitsAt + commit} />;
}

/** An address with those parameters that are not empty. */
export function addressOf(path: string, parameters: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, text]) => text !== ''));
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

interface FilterFormProps {
  /** The address of the unfiltered list. */
  readonly at: string;
  readonly search: { readonly label: string; readonly name: string; readonly value: string };
  /** The other fields. */
  readonly children?: Child;
  /** Whether the list is filtered, so that there is a link to all of it. */
  readonly isFiltered: boolean;
}

/** A form that only reads, so that the filter is in the address. */
export function FilterForm({ at, search, children, isFiltered }: FilterFormProps) {
  const { label, name, value } = search;
  return (
    <form class="filter" method="get" action={at} role="search">
      <input type="search" name={name} value={visible(value)} placeholder={label} aria-label={label} />
      {children}
      <button type="submit">Filter</button>
      {isFiltered ? <a href={at}>Show all</a> : null}
    </form>
  );
}

/** A page must stay readable when every file has errors. */
const MAX_LINES = 20;

interface NoticeProps {
  readonly tone: Tone;
  readonly title: Line;
  readonly lines: readonly Line[];
  /** Below them. */
  readonly children?: Child;
}

/** Something to know before everything else. */
export function Notice({ tone, title, lines, children }: NoticeProps) {
  const rest = lines.length - MAX_LINES;
  return (
    <div class={`notice ${tone}`}>
      <Text line={title} />
      {lines.slice(0, MAX_LINES).map((line) => (
        <Text line={line} is="" />
      ))}
      {rest > 0 ? (
        <p>
          … and {rest} more; <code>rolecall validate</code> lists the errors of all files.
        </p>
      ) : null}
      {children}
    </div>
  );
}

/** The errors of a file; nothing without any. */
export function Errors({ title, errors }: { readonly title: string; readonly errors: readonly string[] }) {
  return errors.length === 0 ? null : (
    <Notice tone="bad" title={[title]} lines={errors.map((error) => [error])} />
  );
}

/** Above the errors of the service file. */
export const NO_ACCOUNT_RUNS = 'The configuration has errors. No account runs until they are fixed.';

type PagerLink = readonly [text: string, href: string] | null;

interface PagerProps {
  /** What the pages contain, for screen readers. */
  readonly label: string;
  /** Between the links, such as `Page 2 of 6`. */
  readonly position?: string;
  readonly previous: PagerLink;
  readonly next: PagerLink;
}

/** Nothing when there is neither a previous nor a next page. */
export function Pager({ label, position = '', previous, next }: PagerProps) {
  if (previous === null && next === null) return null;
  const link = (to: PagerLink, rel: string) =>
    to === null ? null : (
      <a href={to[1]} rel={rel}>
        {to[0]}
      </a>
    );
  return (
    <nav class="pager" aria-label={label}>
      {link(previous, 'prev')}
      <span class="quiet">{position}</span>
      {link(next, 'next')}
    </nav>
  );
}

type Progress = { readonly progress: RunProgress };

export function LiveProgress({ runId, progress }: Progress & { readonly runId: string }) {
  return (
    <div data-progress={`/runs/${runId}/progress`}>
      <ProgressBar progress={progress} />
    </div>
  );
}

export function ProgressBar({ progress }: Progress) {
  const { total, done, failed } = progress;
  return (
    <>
      <p>
        <Inline line={progressLine(progress, useContext(PageTime) ?? 0)} />
      </p>
      {total === 0 ? null : (
        <progress max={total} value={done + failed} aria-label="Operations with a result">
          {Math.floor((100 * (done + failed)) / total)} %
        </progress>
      )}
    </>
  );
}

/** `3 of 8 operations done, 1 failed · 8.4 per second · about 2 min 5 s left`. */
export function progressLine(progress: RunProgress, nowMs: number): Line {
  const { total, done, failed, sent, unknown } = progress;
  if (total === 0) return ['Reading the account and planning. Nothing has been written yet.'];
  return [
    toned('strong', `${done} of ${count(total, 'operation')} done`),
    ...(failed > 0 ? [', ', toned('bad', `${failed} failed`)] : []),
    sent > 0 ? `, ${sent} waiting for an answer` : '',
    unknown > 0 ? `, ${unknown} unknown` : '',
    paceText(progress, nowMs),
  ];
}

/** A rate from fewer results or from less time changes too much to be of use. */
const MIN_RESULTS = 5;
const MIN_MS = 2000;

/** ` · 8.4 per second · about 2 min 5 s left`; empty while it cannot be known. */
function paceText({ total, done, failed, firstSentAt }: RunProgress, nowMs: number): string {
  const results = done + failed;
  const ms = firstSentAt === null ? 0 : nowMs - Date.parse(firstSentAt);
  if (results < MIN_RESULTS || ms < MIN_MS) return '';
  const rate = results / (ms / 1000);
  const left = total - results;
  const time = left === 0 ? '' : ` · about ${waitText((left / rate) * 1000)} left`;
  return ` · ${rate < 10 ? rate.toFixed(1) : Math.round(rate)} per second${time}`;
}
