// The boxes above the content of a page, for what an operator must see first.
import { visible } from '../../../report/escape-invisible.ts';

interface NoticeProps {
  readonly tone: 'good' | 'warn' | 'bad';
  readonly title: string;
  /** One item each. Without lines there is no box. */
  readonly lines: readonly string[];
}

/** A titled list of errors. */
export function Notice({ tone, title, lines }: NoticeProps) {
  if (lines.length === 0) return null;
  return (
    <div class={`notice ${tone}`}>
      <p>
        <strong>{title}</strong>
      </p>
      <ul>
        {lines.map((line) => (
          <li>
            <code>{visible(line)}</code>
          </li>
        ))}
      </ul>
    </div>
  );
}
