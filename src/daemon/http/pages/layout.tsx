// What every page has around it. There is no script: pages are whole as they come, and forms do the rest.
import type { Child } from 'hono/jsx';
import type { Visitor } from '../context.ts';
import { STYLESHEET_PATH } from '../stylesheet.ts';

interface LayoutProps {
  readonly title: string;
  /** Who looks: only who has a session can end it. */
  readonly visitor?: Visitor | undefined;
  /** Whether the browser is to ask for the same address once more. */
  readonly again?: boolean;
  readonly children: Child;
}

export function Layout({ title, visitor, again = false, children }: LayoutProps) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        {/* Within this server only: otherwise browsers would not say that our forms are sent by our own pages. */}
        <meta name="referrer" content="same-origin" />
        {again ? <meta http-equiv="refresh" content="0" /> : null}
        <title>{`${title} · rolecall`}</title>
        <link rel="stylesheet" href={STYLESHEET_PATH} />
      </head>
      <body>
        <header>
          <a href="/">rolecall</a>
          {visitor?.kind === 'session' ? (
            <form class="inline" method="post" action="/sign-out">
              <button class="small" type="submit">
                Sign out
              </button>
            </form>
          ) : null}
        </header>
        <main>{children}</main>
      </body>
    </html>
  );
}
