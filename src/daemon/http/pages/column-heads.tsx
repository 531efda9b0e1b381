// The head of a table: columns of texts, then columns of numbers.

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
