// The form for the token, and the page that makes a browser repeat its request.
import { Layout } from './layout.tsx';

interface SignInPageProps {
  /** The address after the sign-in. */
  readonly next: string;
  /** Why the last attempt failed. */
  readonly problem?: string;
  /** Whether the browser sent the form of an action, which was not performed. */
  readonly isNotDone?: boolean;
}

export function SignInPage({ next, problem, isNotDone = false }: SignInPageProps) {
  return (
    <Layout title="Sign in">
      <form class="sign-in" method="post" action="/sign-in">
        <h1>Sign in</h1>
        {problem === undefined ? null : (
          <p class="notice bad" role="alert" id="problem">
            {problem}
          </p>
        )}
        {isNotDone ? (
          <p class="notice warn">
            Your session has ended, so nothing was done. Sign in, then repeat the action.
          </p>
        ) : null}
        <input type="hidden" name="next" value={next} />
        {isNotDone ? <input type="hidden" name="not-done" value="yes" /> : null}
        {/* For password managers, which need a user name. */}
        <input type="text" name="username" value="rolecall" autocomplete="username" hidden />
        <label for="token">Token of this server</label>
        <input
          id="token"
          name="token"
          type="password"
          autocomplete="current-password"
          required
          autofocus
          {...(problem === undefined ? {} : { 'aria-invalid': 'true', 'aria-describedby': 'problem' })}
        />
        <button class="main" type="submit">
          Sign in
        </button>
      </form>
    </Layout>
  );
}

/** Requests the same page again, now from a page of this server, so that the browser sends the cookie of the session. */
export function ReturnPage() {
  return (
    <Layout title="One moment" again>
      <h1>One moment</h1>
      <p>
        <a href="">Continue</a>
      </p>
    </Layout>
  );
}
