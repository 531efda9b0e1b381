// The heading of the pages below that of an account, with the way back to it.
import { AccountLink } from './account-link.tsx';

export function AccountHeading({ title, account }: { readonly title: string; readonly account: string }) {
  return (
    <h1>
      {title} of <AccountLink name={account} />
    </h1>
  );
}
