// The controls over HTTP, for a program that controls a sandbox in another process.

import { Hono } from 'hono';
import type { HttpBindings } from '@hono/node-server';
import { aNonEmptyString, aString, listOf, objectOf, oneOf, parseAs } from './check.ts';
import type { SandboxControls } from './controls.ts';
import type { SandboxAccount } from './sandbox-account.ts';
import { SandboxError, type SandboxErrorCode } from './sandbox-error.ts';
import { parseFaults } from './faults.ts';
import { resourceSchema } from './seed.ts';
import { settingsSchema } from './settings.ts';

const STATUS = { invalid: 400, file: 400, not_found: 404, unavailable: 503 } as const satisfies Record<
  SandboxErrorCode,
  number
>;
const LOOPBACK_HOST = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/i;
const LOOPBACK = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1']);

type Env = { Bindings: HttpBindings };
type App = Hono<Env>;

const newEntryBody = objectOf({
  kind: oneOf('skill', 'role'),
  name: aNonEmptyString,
  id: aNonEmptyString.exactOptional(),
  createDate: aString.exactOptional(),
});
const renameBody = objectOf({ name: aNonEmptyString });
const assignBody = objectOf({
  assign: listOf(aNonEmptyString).default([]),
  unassign: listOf(aNonEmptyString).default([]),
});

async function jsonOf(request: { text(): Promise<string> }): Promise<unknown> {
  try {
    return JSON.parse(await request.text());
  } catch (cause) {
    throw new SandboxError('invalid', 'the request body is not valid JSON', { cause });
  }
}

function addEntryRoutes(app: App, controls: SandboxControls): void {
  app.get('/accounts/:name/entries', (c) => {
    const { skills, roles } = controls.state(c.req.param('name'));
    return c.json({ skills, roles });
  });
  app.post('/accounts/:name/entries', async (c) => {
    const { kind, name, ...choice } = parseAs(newEntryBody, await jsonOf(c.req), 'body');
    const account = c.req.param('name');
    const entry =
      kind === 'skill' ? controls.addSkill(account, name, choice) : controls.addRole(account, name, choice);
    return c.json(entry, 201);
  });
  app.patch('/accounts/:name/entries/:id', async (c) => {
    const { name } = parseAs(renameBody, await jsonOf(c.req), 'body');
    return c.json(controls.renameEntry(c.req.param('name'), c.req.param('id'), name));
  });
  app.delete('/accounts/:name/entries/:id', (c) => {
    controls.removeEntry(c.req.param('name'), c.req.param('id'));
    return c.body(null, 204);
  });
}

function addResourceRoutes(app: App, controls: SandboxControls): void {
  app.get('/accounts/:name/resources', (c) => c.json(controls.state(c.req.param('name')).resources));
  app.post('/accounts/:name/resources', async (c) => {
    const resource = parseAs(resourceSchema, await jsonOf(c.req), 'resource');
    return c.json(controls.addResource(c.req.param('name'), resource), 201);
  });
  app.patch('/accounts/:name/resources/:id', async (c) => {
    const { assign, unassign } = parseAs(assignBody, await jsonOf(c.req), 'body');
    const [account, id] = [c.req.param('name'), c.req.param('id')];
    for (const entry of unassign) controls.unassign(account, id, entry);
    for (const entry of assign) controls.assign(account, id, entry);
    return c.json(controls.state(account).resources.find((each) => each.id === id) ?? null);
  });
  app.delete('/accounts/:name/resources/:id', (c) => {
    controls.removeResource(c.req.param('name'), c.req.param('id'));
    return c.body(null, 204);
  });
}

function addBehaviourRoutes(app: App, controls: SandboxControls): void {
  app.get('/faults', (c) => c.json(controls.faults()));
  app.put('/faults', async (c) => {
    controls.setFaults(parseFaults(await jsonOf(c.req)));
    return c.json(controls.faults());
  });
  app.get('/settings', (c) => c.json(controls.settings()));
  app.put('/settings', async (c) => {
    controls.setSettings(parseAs(settingsSchema, await jsonOf(c.req), 'settings'));
    return c.json(controls.settings());
  });
  app.get('/requests', (c) => c.json(controls.requests()));
  app.delete('/requests', (c) => {
    controls.clearRequests();
    return c.body(null, 204);
  });
}

/**
 * The controls under `/_sandbox`, in JSON, without a token:
 *
 * - `GET /accounts`: `[{name, id, token, region, baseUrl}]`
 * - `GET /accounts/NAME/entries`: `{skills, roles}`; `POST` `{kind, name, id?, createDate?}`
 * - `PATCH /accounts/NAME/entries/ID` `{name}` renames; `DELETE` deletes, also from all resources
 * - `GET /accounts/NAME/resources`; `POST` a resource as in a seed
 * - `PATCH /accounts/NAME/resources/ID` `{assign?: [entry id], unassign?: [entry id]}`; `DELETE`
 * - `GET|PUT /faults`: the rules (PUT takes the list; both return `{faults, acted}`)
 * - `GET|PUT /settings`: PUT changes the settings that its body contains
 * - `GET|DELETE /requests`: the log of the requests to the service, without tokens
 *
 * Errors are `{error, issues}` with 400 or 404. Requests from another machine, with a `Host` that is not loopback or
 * with an `Origin` get 403: otherwise a web page could read the tokens.
 */
export function controlServer(controls: SandboxControls, accounts: readonly SandboxAccount[]): App {
  const app = new Hono<Env>().basePath('/_sandbox');
  app.use(async (c, next) => {
    const { socket } = c.env.incoming;
    if (!LOOPBACK.has(socket.remoteAddress ?? '') || !LOOPBACK_HOST.test(c.req.header('host') ?? '')) {
      return c.json(
        { error: 'the control addresses are open to this machine only; use http://127.0.0.1', issues: [] },
        403,
      );
    }
    if (c.req.header('origin') !== undefined) {
      return c.json(
        {
          error:
            'the control addresses refuse requests of web pages; send the request without an Origin header',
          issues: [],
        },
        403,
      );
    }
    return await next();
  });
  app.get('/accounts', (c) => c.json(accounts));
  addEntryRoutes(app, controls);
  addResourceRoutes(app, controls);
  addBehaviourRoutes(app, controls);
  app.notFound((c) =>
    c.json({ error: 'no such control address; check the path and the method', issues: [] }, 404),
  );
  app.onError((error, c) => {
    if (error instanceof SandboxError)
      return c.json({ error: error.message, issues: error.issues }, STATUS[error.code]);
    return c.json({ error: 'the sandbox failed unexpectedly; this is a bug', issues: [] }, 500);
  });
  return app;
}
