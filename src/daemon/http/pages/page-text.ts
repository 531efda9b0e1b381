// Turns a page into the text of an answer.
import { html } from 'hono/html';
import type { Child } from 'hono/jsx';

export async function pageText(page: Child): Promise<string> {
  return String(await html`<!doctype html>${page}`);
}
