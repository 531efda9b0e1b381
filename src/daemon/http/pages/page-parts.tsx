// The parts that pages share: links to accounts, buttons, heads of tables, filters, notices, pagers and relative times.
import { MAX_REASON, type OperatorAction } from '../../../core/operator.ts';
import { visible } from '../../../report/escape-invisible.ts';
import { instant, relativeTime } from '../../../report/formatting.ts';
import { accountPath } from '../context.ts';
import { isValidTarget } from '../request-checks.ts';

/** A name that no address can contain, such as one with a line break, is no link. */
export function AccountLink({ name }: { readonly name: string }) {
  const path = accountPath(name);
  return isValidTarget(path) ? <a href={path}>{visible(name)}</a> : <>{visible(name)}</>;
}

interface ActionButtonProps {
  readonly account: string;
  readonly action: OperatorAction;
  readonly label: string;
  /** For `approve`: the plan that the page shows. */
  readonly digest?: string;
  /** Whether it is the most important button of the page. */
  readonly main?: boolean;
}

/** A form that posts, since following a link must not change anything. */
export function ActionButton({ account, action, label, digest, main = false }: ActionButtonProps) {
  return (
    <form method="post" action={`${accountPath(account)}/${action}`}>
      {digest === undefined ? null : <input type="hidden" name="digest" value={digest} />}
      <button type="submit" class={main ? 'main' : ''}>
        {label}
      </button>
      {action === 'pause' ? (
        <label>
          Reason for the pause{' '}
          <input type="text" name="reason" maxlength={MAX_REASON} placeholder="optional" />
        </label>
      ) : null}
    </form>
  );
}

interface ColumnHeadsProps {
  readonly texts: readonly string[];
  readonly numbers?: readonly string[];
}

export function ColumnHeads({ texts, numbers = [] }: ColumnHeadsProps) {
  return (
    <thead>
      <tr>
        {texts.map((head) => (
          <th scope="col">{head}</th>
        ))}
        {numbers.map((head) => (
          <th scope="col" class="number">
            {head}
          </th>
        ))}
      </tr>
    </thead>
  );
}

interface FilterFormProps {
  /** The address of the unfiltered list. */
  readonly at: string;
  readonly search: { readonly label: string; readonly name: string; readonly value: string };
  readonly choice: {
    readonly label: string;
    readonly name: string;
    /** Each value with its label. */
    readonly options: readonly (readonly [string, string])[];
    readonly value: string | null;
  };
  /** The text of the link to the unfiltered list; null when the list is not filtered. */
  readonly showAll: string | null;
}

/** A form that only reads, so that the filter is in the address. */
export function FilterForm({ at, search, choice, showAll }: FilterFormProps) {
  return (
    <form class="filter" method="get" action={at} role="search">
      <label>
        {search.label}
        <input
          type="search"
          name={search.name}
          value={visible(search.value)}
          maxlength={255}
          autocomplete="off"
          spellcheck={false}
        />
      </label>
      <label>
        {choice.label}
        <select name={choice.name}>
          <option value="">all</option>
          {choice.options.map(([value, label]) => (
            <option value={value} selected={value === choice.value}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <button type="submit">Filter</button>
      {showAll === null ? null : <a href={at}>{showAll}</a>}
    </form>
  );
}

/** A page must stay readable when every file has errors. */
const MAX_LINES = 20;

interface NoticeProps {
  readonly tone: 'good' | 'warn' | 'bad';
  readonly title: string;
  /** One item each. Without lines there is no box. */
  readonly lines: readonly string[];
}

/** A titled list of errors. */
export function Notice({ tone, title, lines }: NoticeProps) {
  if (lines.length === 0) return null;
  const rest = lines.length - MAX_LINES;
  return (
    <div class={`notice ${tone}`}>
      <p>
        <strong>{title}</strong>
      </p>
      <ul>
        {lines.slice(0, MAX_LINES).map((line) => (
          <li>{visible(line)}</li>
        ))}
        {rest > 0 ? (
          <li>
            … and {rest} more; <code>rolecall validate</code> lists the errors of all files.
          </li>
        ) : null}
      </ul>
    </div>
  );
}

/** Above the errors of the service file. */
export const NO_ACCOUNT_RUNS = 'The configuration has errors. No account runs until they are fixed.';

interface PagerProps {
  /** What the pages contain, for screen readers. */
  readonly label: string;
  /** Between the links, such as `Page 2 of 6`. */
  readonly position: string;
  readonly previous: { readonly href: string; readonly text: string } | null;
  readonly next: { readonly href: string; readonly text: string } | null;
}

/** Nothing when there is neither a previous nor a next page. */
export function Pager({ label, position, previous, next }: PagerProps) {
  if (previous === null && next === null) return null;
  return (
    <nav class="pager" aria-label={label}>
      {previous === null ? null : (
        <a href={previous.href} rel="prev">
          {previous.text}
        </a>
      )}
      <span class="quiet">{position}</span>
      {next === null ? null : (
        <a href={next.href} rel="next">
          {next.text}
        </a>
      )}
    </nav>
  );
}

/** `4 min ago`. */
export function RelativeInstant({ at, nowMs }: { readonly at: string; readonly nowMs: number }) {
  return (
    <time datetime={visible(at)} title={visible(instant(at))}>
      {visible(relativeTime(at, nowMs))}
    </time>
  );
}
