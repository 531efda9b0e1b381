// The form for the token, and the page that makes a browser repeat its request.
import { Layout } from './layout.tsx';

/** `next` is the address after the sign-in, `problem` why the last attempt failed. */
export function SignInPage({ next, problem }: { readonly next: string; readonly problem?: string }) {
  return (
    <Layout title="Sign in">
      <form class="sign-in" method="post" action="/sign-in">
        <h1>Sign in</h1>
        {problem === undefined ? null : (
          <p class="notice bad" role="alert" id="problem">
            {problem}
          </p>
        )}
        <input type="hidden" name="next" value={next} />
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
