// What an operator decides by: the plan that waits for approval, shown completely, since nobody may approve a plan unseen, with
// its buttons below it; or what remains after the latest run that planned, or what the run at work does.
import type { RunRecord } from '../../../core/schemas.ts';
import { onlyOf, type Plan } from '../../../core/plan.ts';
import type { RunDetail, RunProgress } from '../../../core/ports/journal-reader.ts';
import type { Links } from '../../../core/settings.ts';
import type { Line } from '../../../report/document.ts';
import { count } from '../../../report/formatting.ts';
import { Inline, Paste } from '../../../report/html.tsx';
import { plannedSections } from '../../../report/plan-sections.ts';
import { losingPeople, losses } from '../../../report/plan-sentence.ts';
import { commitLine } from '../../../report/run-status.ts';
import { waitsForApproval } from '../../../core/account-states.ts';
import type { AccountView } from '../../daemon-api.ts';
import { accountPath, useFrame } from '../context.ts';
import { isChanging } from './account-facts.tsx';
import { READ_ONLY, WRITING_OFF } from '../refusals.ts';
import { ActionButton, Card, RunLink, LiveProgress } from './page-parts.tsx';
import { PagedSections, type PagePlace } from './paged-sections.tsx';

interface DecisionProps {
  readonly account: AccountView;
  /** The run that the changes are from. */
  readonly detail: RunDetail | undefined;
  /** The pending plan, or what remains of the plan of that run; null when nothing does, or when it is no longer stored. */
  readonly plan: Plan | null;
  /** Whether the plan waits, or is approved and waits for its run. */
  readonly isPending: boolean;
  /** The run that works now; null when none does. */
  readonly progress: RunProgress | null;
  readonly place: PagePlace;
}

/** The button that approves sends the digest of the plan that is shown. */
export function Decision({ account, detail, plan: complete, isPending, progress, place }: DecisionProps) {
  const { name, mode, lastRun, pending } = account;
  // The creates of the run were applied at once.
  const isSplit = isPending && mode === 'approve-deletes' && complete !== null;
  const plan = isSplit ? onlyOf('delete', complete) : complete;
  const waits = isPending && plan !== null && account.issues.length === 0 && waitsForApproval(account);
  // A button could be under the pointer with a plan that nobody has read.
  const isReplaced = waits && isChanging(account);
  const isOld = detail !== undefined && detail.run.id !== lastRun?.id && pending === null;
  return (
    <Card
      id="changes"
      title={<Inline line={titleOf({ account, plan, isPending, progress, detail })} />}
      {...(isPending ? { tone: 'warn' } : {})}
    >
      {progress === null || lastRun === null ? null : <LiveProgress runId={lastRun.id} progress={progress} />}
      {detail === undefined || (progress !== null && !isPending) ? null : (
        <p class="quiet">
          <Inline line={plan?.operations[0] === undefined ? [] : originOf(detail.run, useFrame())} />
          {isPending || detail.run.status === 'planned' ? 'Planned ' : 'The file was compared '}
          <RunLink run={detail.run} />
          {isOld ? '. Later runs ended before they could compare the account with its file.' : '.'}
        </p>
      )}
      {waits && plan.status === 'blocked' ? (
        <p>
          An approval accepts the lists of the service.
          {mode === 'plan' ? ' In mode plan, nothing is written.' : ''}
        </p>
      ) : null}
      {plan === null ? null : (
        <div class="diff">
          <PagedSections
            sections={plannedSections({ ...plan, held: [] })}
            at={accountPath(name)}
            place={place}
          />
        </div>
      )}
      {isPending && plan === null ? (
        <p>The plan is no longer stored. Run the account again, and approve the new plan.</p>
      ) : null}
      {isReplaced ? (
        <p class="notice">
          A run of the account is queued or in progress and makes a new plan, which can be approved then.
        </p>
      ) : null}
      <Buttons account={account} approves={waits && !isReplaced ? plan : null} />
    </Card>
  );
}

type TitleProps = Omit<DecisionProps, 'place'>;

/** What waits, remains or happens, and who loses what. */
function titleOf({ account, plan, isPending, progress, detail }: TitleProps): Line {
  const { mode, pause, lastRun } = account;
  if (!isPending) {
    if (progress !== null) return ['A run is in progress.'];
    if (isChanging(account)) return ['A run is queued. It starts as soon as a place is free.'];
    const isKnown = detail?.run.status === 'converged' || detail?.run.status === 'planned';
    if (lastRun === null) return ['The account has not run yet.'];
    if (plan === null) return [isKnown ? 'The account matches its file.' : 'It is not known what differs.'];
    return plan.operations.length === 0
      ? ['Nothing to apply.']
      : [`${changesText(plan)} to apply. `, ...lossSentence(plan)];
  }
  if (plan === null) return ['A plan waits for you.'];
  const isOne = plan.operations.length === 1;
  if (waitsForApproval(account)) {
    return plan.status === 'blocked'
      ? ['The lists of the service look wrong. Nothing is written until you approve them.']
      : [`${changesText(plan)} ${isOne ? 'waits' : 'wait'} for you. `, ...lossSentence(plan)];
  }
  if (mode === 'plan') return ['A plan is approved; the next run accepts its lists and writes nothing.'];
  const next = pause === null ? 'the next run applies' : 'resume the account to apply';
  return [`${changesText(plan)} ${isOne ? 'is' : 'are'} approved; ${next} ${isOne ? 'it' : 'them'}.`];
}

/** `4 creates and 1 delete`. */
function changesText({ summary }: Plan): string {
  const creates = summary.create === 0 ? [] : [count(summary.create, 'create')];
  const deletes = summary.delete === 0 ? [] : [count(summary.delete, 'delete')];
  return [...creates, ...deletes].join(' and ') || 'Nothing';
}

/** `3 people lose Perl`. */
export function lossLine(plan: Plan): Line {
  const { people, unknown } = losingPeople(plan);
  return people + unknown === 0 ? ['nobody loses anything'] : losses([plan]);
}

/** The same as a sentence. */
function lossSentence(plan: Plan): Line {
  const [first = '', ...others] = lossLine(plan);
  const opening = typeof first === 'string' ? first.charAt(0).toUpperCase() + first.slice(1) : first;
  return [opening, ...others, '.'];
}

/** `From c06d636 “add Kubernetes” by Dana, 6 min ago. `; empty where the configuration is not in git. */
function originOf(run: RunRecord, links: Links): Line {
  const line = commitLine(run, links);
  return line === null ? [] : ['From ', ...line, '. '];
}

interface ButtonsProps {
  readonly account: AccountView;
  /** The plan that is shown and waits. */
  readonly approves: Plan | null;
}

/** The buttons, or why there are none. */
function Buttons({ account, approves }: ButtonsProps) {
  const { name, mode, pause, issues } = account;
  const { visitor } = useFrame();
  if (visitor?.role !== 'operate') {
    const isOff = visitor?.kind === 'anybody';
    return (
      <>
        {approves === null || !isOff ? null : (
          <>
            <p>To approve this plan, run on the machine of the daemon:</p>
            <Paste lines={[`rolecall approve ${name} ${approves.digest}`]} />
          </>
        )}
        <p class="quiet">
          {isOff ? <strong>{WRITING_OFF.title}. </strong> : null}
          {isOff ? WRITING_OFF.message : READ_ONLY.message}
        </p>
      </>
    );
  }
  return (
    <div class="buttons">
      {approves === null ? null : (
        <ActionButton
          account={name}
          action="approve"
          label={`Approve ${approvedText(approves, mode)}`}
          digest={approves.digest}
        />
      )}
      {issues.length > 0 || isChanging(account) ? null : (
        <ActionButton account={name} action="sync" label={approves === null ? 'Run now' : 'Plan again'} />
      )}
      {pause === null ? (
        <ActionButton account={name} action="pause" label="Pause scheduled runs" />
      ) : (
        <ActionButton account={name} action="resume" label="Resume scheduled runs" />
      )}
      {approves === null ? null : (
        <span class="quiet">
          plan <code title={approves.digest}>{approves.digest.slice(7, 15)}</code> · an approval lapses in 24
          h
        </span>
      )}
    </div>
  );
}

function approvedText({ operations, status }: Plan, mode: AccountView['mode']): string {
  const changes = operations.length === 1 ? 'this change' : `these ${operations.length} changes`;
  if (status !== 'blocked') return changes;
  return operations.length === 0 || mode === 'plan' ? 'these lists' : `these lists and ${changes}`;
}
