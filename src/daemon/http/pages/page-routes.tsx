// The path of the page of all accounts.
import type { Hono } from 'hono';
import { html } from 'hono/html';
import type { DaemonApi } from '../../daemon-api.ts';
import type { HttpEnv } from '../context.ts';
import { AccountsPage } from './accounts-page.tsx';

/** Adds the page. */
export function addPages(app: Hono<HttpEnv>, daemon: DaemonApi): void {
  app.get('/', async (context) => {
    const [overview, accounts] = await Promise.all([daemon.overview(), daemon.accounts()]);
    const page = <AccountsPage daemon={overview} accounts={accounts} visitor={context.get('visitor')} />;
    return await context.html(html`<!doctype html>${page}`);
  });
}
