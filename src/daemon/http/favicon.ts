// The icon of the pages: a list with a check mark, in colours that are visible in light and in dark windows.
export const FAVICON_SVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="7" fill="#0b57a4"/>
<path d="M7 9.5h10M7 16h7M7 22.5h5" stroke="#fff" stroke-width="3" stroke-linecap="round" fill="none"/>
<path d="M15.5 20.5l4 4 7-9" stroke="#7ed49a" stroke-width="3.5" stroke-linecap="round" stroke-linejoin="round" fill="none"/>
</svg>
`;
