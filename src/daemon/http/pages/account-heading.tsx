// The heading of the pages below that of an account, with the way back to it.

export function AccountHeading({ title, account }: { readonly title: string; readonly account: string }) {
  return (
    <h1>
      {title} of <a href={`/accounts/${encodeURIComponent(account)}`}>{account}</a>
    </h1>
  );
}
