// The frame of every page. There is no script: pages arrive complete, and forms send actions.
import type { Child } from 'hono/jsx';
import type { Visitor } from '../context.ts';
import { STYLESHEET_PATH } from '../stylesheet.ts';

interface LayoutProps {
  readonly title: string;
  /** Only a visitor with a session sees the button that ends it. */
  readonly visitor?: Visitor | undefined;
  /** Whether the browser requests the same address again. */
  readonly again?: boolean;
  /** After how many seconds a browser without scripts requests the page again. */
  readonly reloadAfterS?: number;
  readonly children: Child;
}

export function Layout({ title, visitor, again = false, reloadAfterS, children }: LayoutProps) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        {/* Browsers must report to this server, and to no other, that a form was sent by one of its own pages. */}
        <meta name="referrer" content="same-origin" />
        {again ? <meta http-equiv="refresh" content="0" /> : null}
        {reloadAfterS === undefined ? null : (
          <noscript>
            <meta http-equiv="refresh" content={String(reloadAfterS)} />
          </noscript>
        )}
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
