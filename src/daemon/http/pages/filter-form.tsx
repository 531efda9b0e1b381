// The form above a list: a text to search for, a choice, and what else a list can be filtered by.
import type { Child } from 'hono/jsx';
import { visible } from '../../../report/escape-invisible.ts';

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
  /** Further fields. */
  readonly children?: Child;
}

/** A form that only reads, so that the filter is in the address. */
export function FilterForm({ at, search, choice, showAll, children }: FilterFormProps) {
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
      {children}
      <button type="submit">Filter</button>
      {showAll === null ? null : <a href={at}>{showAll}</a>}
    </form>
  );
}
