// The styles of the pages of accounts and runs: progress, charts, plans and the audit.

export const DETAIL_STYLES = `
h1, h2, h3, p, li { overflow-wrap: anywhere; }
.progress { margin: 1rem 0; padding: 0.75rem 1rem; background: var(--raised); }
progress {
  display: block;
  width: 100%;
  height: 0.75rem;
  border: 0;
  border-radius: 0.375rem;
  overflow: hidden;
  background: var(--line);
  color: var(--link);
  accent-color: var(--link);
  appearance: none;
}
progress::-webkit-progress-bar { background: var(--line); }
progress::-webkit-progress-value { background: var(--link); }
progress::-moz-progress-bar { background: var(--link); }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(18rem, 100%), 1fr)); gap: 1.5rem; margin: 1rem 0; }
.chart { margin: 0; }
.chart figcaption { margin-bottom: 0.25rem; font-weight: 600; }
.chart > svg { display: block; width: 100%; height: auto; overflow: visible; }
.chart text { fill: var(--quiet); font: 12px system-ui, sans-serif; }
.chart .axis { fill: none; stroke: var(--line); }
.line { fill: none; stroke-width: 2; }
.dot { fill: none; stroke-width: 6; stroke-linecap: round; }
.line-1 { stroke: var(--link); }
.line-2 { stroke: var(--bad); }
.line-3 { stroke: var(--warn); }
.line.line-2 { stroke-dasharray: 6 3; }
.line.line-3 { stroke-dasharray: 2 3; }
.legend { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; margin: 0.25rem 0 0; padding: 0; list-style: none; font-size: 0.875rem; }
.legend svg { width: 1.5rem; height: 0.5rem; margin-right: 0.35rem; vertical-align: middle; }
.legend strong { font-variant-numeric: tabular-nums; }
.approval { padding-top: 1rem; border-top: 1px solid var(--line); }
.approval button { white-space: normal; text-align: left; }
.compare label { margin-right: 0.75rem; white-space: nowrap; }
.compare input { min-height: 0; }
table.actions-table td { overflow-wrap: anywhere; }
`;
