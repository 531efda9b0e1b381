// A path within a folder that somebody else fills: followed link by link, so that nothing outside of it is ever touched.
import { lstatSync, readlinkSync } from 'node:fs';
import path from 'node:path';

/** As many as the system itself follows. */
const MAX_LINKS = 40;

/**
 * Where `below` (relative) really is within `folder`; undefined when it leads out, by `..` or by a symbolic link,
 * whether or not there is anything. What does not exist in it has the place that it would have.
 */
export function stayWithin(folder: string, below: string): string | undefined {
  const steps = below.split(path.sep).toReversed();
  const place: string[] = [];
  let links = 0;
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
    if (step === '' || step === '.') continue;
    if (step === '..') {
      if (place.pop() === undefined) return undefined;
      continue;
    }
    const target = linkTarget(path.join(folder, ...place, step));
    if (target === undefined) place.push(step);
    else {
      links += 1;
      if (path.isAbsolute(target) || links > MAX_LINKS) return undefined;
      steps.push(...target.split(path.sep).toReversed());
    }
  }
  return path.join(folder, ...place);
}

function linkTarget(file: string): string | undefined {
  try {
    return lstatSync(file).isSymbolicLink() ? readlinkSync(file) : undefined;
  } catch {
    return undefined;
  }
}
