// The boxes above the content of a page, for what an operator must see first.
import { Prose } from '../../../report/html.tsx';

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
          <li>
            <Prose text={line} />
          </li>
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
