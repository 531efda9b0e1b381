// The form for the token, and the page that sends a browser round once more.
import { Layout } from './layout.tsx';

/** `next` is where to go from here, `problem` what was wrong with the last try. */
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
        {/* For password managers, which ask whose password it is. */}
        <input type="text" name="username" value="rolecall" autocomplete="username" hidden />
        <label for="token">A token of this server</label>
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

/** Asks for the same page once more, this time from a page of ours, so that the session's cookie comes along. */
export function ReturnPage() {
  return (
    <Layout title="One moment" again>
      <h1>One moment</h1>
      <p>
        <a href="">Go on</a>
      </p>
    </Layout>
  );
}
