// The links to the other pages of a list.

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
