// Preloaded into a measured process (NODE_OPTIONS): at its end writes what it cost into the file COST_FILE. Processor time
// and not the clock's: other programs on the machine lengthen it little.
import { writeFileSync } from 'node:fs';

process.on('exit', () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  const cost = { peakMb: maxRSS / 1024, cpuSeconds: (userCPUTime + systemCPUTime) / 1e6 };
  writeFileSync(process.env.COST_FILE, JSON.stringify(cost));
});
