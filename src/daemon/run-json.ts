// A run as JSON: complete, or for a large run in pieces, whose lists are copied without being parsed.
import type { JournalReader } from '../core/journal-reader.ts';
import { operationToJson, runReportToJson, runToJson } from '../report/run-json.ts';

type Reader = Pick<JournalReader, 'runReport' | 'runHead' | 'runTexts' | 'operationsAfter'>;
type RunHead = NonNullable<Awaited<ReturnType<Reader['runHead']>>>;

/** The complete JSON; null when there is no such run. */
export async function runJson(
  id: string,
  reader: Reader,
): Promise<string | AsyncIterable<string | Uint8Array> | null> {
  const head = await reader.runHead(id);
  if (head?.isLarge === true) return inPieces(head, reader);
  const detail = head === null ? null : await reader.runReport(head.run.id);
  return detail === null ? null : JSON.stringify(runReportToJson(detail));
}

/** The same fields in the same order. Throws when the run, or a part of it, is deleted from the store meanwhile. */
async function* inPieces({ run }: RunHead, reader: Reader): AsyncGenerator<string | Uint8Array> {
  const texts = await reader.runTexts(run.id);
  if (texts === null) throw deletedMeanwhile();
  yield `${JSON.stringify(runToJson(run)).slice(0, -1)},"operations":[`;
  let sent = 0;
  for (let seq = 0; ;) {
    const operations = await reader.operationsAfter(run.id, seq);
    const last = operations.at(-1);
    if (last === undefined) break;
    yield `${seq === 0 ? '' : ','}${operations.map((each) => JSON.stringify(operationToJson(each))).join()}`;
    seq = last.seq;
    sent += operations.length;
  }
  // A run that has not ended may have more operations by now.
  if (sent < texts.operationCount) throw deletedMeanwhile();
  yield `],"warnings":${texts.warnings},"plan":`;
  if (texts.plan === null) yield 'null';
  else yield* texts.plan;
  yield '}';
}

function deletedMeanwhile(): Error {
  return new Error('the run was deleted from the store while it was being read');
}
