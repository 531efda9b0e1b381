// Checks that the SQLite driver of this Node.js loads. npm leaves an optional package out without a message when its
// compilation fails, so the installation must fail here.
export async function checkDriver() {
  await import(new URL('../../dist/sqlite.js', import.meta.url).href).catch(({ message }) => {
    console.error(`error: ${message}`);
    process.exitCode = 1;
  });
}
