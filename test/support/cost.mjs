// Preloaded into a measured process (NODE_OPTIONS): writes its cost into the file COST_FILE when it ends. It measures
// processor time and not clock time, because other programs on the machine hardly affect it.
import { writeFileSync } from 'node:fs';

process.on('exit', () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  const cost = { peakMb: maxRSS / 1024, cpuSeconds: (userCPUTime + systemCPUTime) / 1e6 };
  writeFileSync(process.env.COST_FILE, JSON.stringify(cost));
});
