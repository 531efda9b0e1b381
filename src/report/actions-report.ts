// The report of `history --actions`: what operators did.
import { ALL_ACCOUNTS, type OperatorActionRecord, type RecordedAction } from '../core/operator.ts';
import { actionSchema } from './command-schemas.ts';
import { code, columnsOf, type Group, type Line, type ReportOptions } from './document.ts';
import { briefInstant } from './formatting.ts';
import { listReport, listSummary, renderReport } from './render.ts';
import { publishedFields } from './run-json.ts';

const TEXTS: Readonly<Record<RecordedAction, string>> = {
  sync: 'requested a run',
  approve: 'approved a plan',
  pause: 'paused',
  resume: 'resumed',
  fetch: 'requested the newest configuration',
};

/** A newer version may have recorded an action without a text here. */
export function actionText(action: RecordedAction): string {
  return Object.hasOwn(TEXTS, action) ? TEXTS[action] : action;
}

/** One row for each action. */
function actionsTable(actions: readonly OperatorActionRecord[]): Group {
  const rows = actions.map(({ at, account, by, via, action, detail }): Line[] => [
    [briefInstant(at)],
    account === ALL_ACCOUNTS ? ['all accounts'] : [code(account)],
    [by],
    [via.toUpperCase()],
    [actionText(action)],
    detail === null ? [] : [action === 'approve' ? code(detail) : detail],
  ]);
  return { columns: columnsOf('When (UTC)', 'Account', 'Who', 'Via', 'What', 'Detail'), rows };
}

/** All given actions. json is an array of them. */
export function renderActions(actions: readonly OperatorActionRecord[], options: ReportOptions): string {
  const value = actions.map((action) => publishedFields(actionSchema, { schemaVersion: 1, ...action }));
  const summary = listSummary(actions.length, 'action', options);
  const model = () => listReport('rolecall history --actions', actionsTable(actions), summary);
  return renderReport(value, model, options);
}
