// The name of an account as a link to its page.
import { visible } from '../../../report/escape-invisible.ts';
import { accountPath } from '../account-path.ts';
import { isValidTarget } from '../request-checks.ts';

/** A name that no address can contain, such as one with a line break, is no link. */
export function AccountLink({ name }: { readonly name: string }) {
  const path = accountPath(name);
  return isValidTarget(path) ? <a href={path}>{visible(name)}</a> : <>{visible(name)}</>;
}
