// The addresses of git repositories.
import { describe, expect, it } from 'vitest';
import { commitsAddress, remoteKind, shownRemote, withoutUsers } from '../../../src/core/remote-address.ts';

describe('the protocol of a repository', () => {
  it.each([
    ['https://git.example.com/team/roles.git', 'http'],
    ['HTTPS://git.example.com/x', 'http'],
    ['http://127.0.0.1/x', 'http'],
    ['ssh://git@git.example.com/x', 'ssh'],
    ['git@git.example.com:team/roles.git', 'ssh'],
    ['git.example.com:roles.git', 'ssh'],
    ['host:', 'ssh'],
    ['file:///srv/roles.git', 'local'],
    ['/srv/roles.git', 'local'],
    ['../roles.git', 'local'],
    ['./host:roles.git', 'local'],
    ['/srv/a:b', 'local'],
    ['roles', 'local'],
    ['', 'local'],
    ['git://git.example.com/x', 'other'],
    ['ftp://git.example.com/x', 'other'],
    ['git+ssh://git.example.com/x', 'other'],
    ['ext-1.0://x', 'other'],
    ['httpsx://git.example.com/x', 'other'],
    ['xhttps://git.example.com/x', 'other'],
    ['file:/srv/roles.git', 'ssh'],
    ['1https://x', 'ssh'],
    [' https://x', 'ssh'],
    ['x/https://git.example.com', 'local'],
  ])('of %j is %s', (url, kind) => {
    expect(remoteKind(url)).toBe(kind);
  });
});

describe('the address of a repository in messages', () => {
  it.each([
    ['https://user:secret@git.example.com/x.git', 'https://git.example.com/x.git'],
    ['https://secret@git.example.com/x.git', 'https://git.example.com/x.git'],
    ['https://user:sec@ret@git.example.com/x', 'https://git.example.com/x'],
    ['HTTPS://secret@git.example.com/x', 'HTTPS://git.example.com/x'],
    ['git+ssh.2-x://secret@host/x', 'git+ssh.2-x://host/x'],
    ['https://git.example.com/x?token=secret', 'https://git.example.com/x'],
    ['https://git.example.com/x#secret', 'https://git.example.com/x'],
    ['https://git.example.com/x?a@b#secret?secret', 'https://git.example.com/x'],
    ['https://git.example.com?user=secret@x/y', 'https://git.example.com'],
    ['https://git.example.com#secret@x/y', 'https://git.example.com'],
    ['git@git.example.com:team/x.git', 'git.example.com:team/x.git'],
    ['git@git.example.com:team@home/x.git', 'git.example.com:team@home/x.git'],
    ['git.example.com:team/x.git', 'git.example.com:team/x.git'],
    ['https://git.example.com/a@b/c', 'https://git.example.com/a@b/c'],
    ['ssh://git.example.com:22/x', 'ssh://git.example.com:22/x'],
    ['/srv/a@b:c/x.git', '/srv/a@b:c/x.git'],
    ['a@b/c', 'a@b/c'],
    ['/srv/https://a@b/c', '/srv/https://a@b/c'],
    ['https://x?a\nsecret', 'https://x'],
  ])('of %j is %j', (url, shown) => {
    expect(shownRemote(url)).toBe(shown);
  });
});

describe('a text about addresses', () => {
  it.each([
    [
      "fatal: unable to access 'https://user:secret@host/x/': 403",
      "fatal: unable to access 'https://host/x/': 403",
    ],
    ['https://secret@a/x and ssh://secret@b/y', 'https://a/x and ssh://b/y'],
    ['https://user:s@cre@t@host/x', 'https://host/x'],
    ['https://user:se:cr,et@host', 'https://host'],
    ['://@host', '://host'],
    ['https://host/a@b', 'https://host/a@b'],
    ['https://host?a@b', 'https://host?a@b'],
    ['https://host#a@b', 'https://host#a@b'],
    ['https://host a@b', 'https://host a@b'],
    ["'https://host' a@b", "'https://host' a@b"],
    ['"https://host",a@b', '"https://host",a@b'],
    ['https://host\na@b', 'https://host\na@b'],
    ['mail a@b, not http:/user@host', 'mail a@b, not http:/user@host'],
    ['nothing', 'nothing'],
  ])('%j contains no user and no password as %j', (text, cleaned) => {
    expect(withoutUsers(text)).toBe(cleaned);
  });
});

describe('the address of commits on the web', () => {
  const [github, gitlab] = [
    'https://github.com/acme/catalog/commit/',
    'https://gitlab.acme.io/a/b/c/-/commit/',
  ];
  it.each([
    ['https://github.com/acme/catalog.git', github],
    ['https://user:ghp_secret@GitHub.com/acme/catalog/', github],
    ['https://ghp_sec@ret@github.com/acme/catalog', github],
    ['git@github.com:acme/catalog.git', github],
    ['github.com:acme/catalog', github],
    ['ssh://git:secret@github.com:22/acme/catalog.git', github],
    ['ssh://git@gitlab.acme.io/a/b/c.git', gitlab],
    ['https://oauth2:glpat@gitlab.acme.io/a/b/c.git', gitlab],
    ['git@bitbucket.org:acme/catalog.git', 'https://bitbucket.org/acme/catalog/commits/'],
  ])('of %s is %s', (remote, address) => expect(commitsAddress(remote)).toBe(address));

  it.each([
    [
      '',
      'https://git.example.com/acme/catalog',
      'https://notgithub.com/a/b',
      'https://bitbucket.acme.io/a/b',
    ],
    ['https://github.com/user:secret@b/c', 'https://user:se/cret@github.com/a/b', 'https://github.com/a'],
    ['https://github.com/a/b?token=secret', 'https://github.com/a/b#secret', 'https://github.com:8443/a/b'],
    ['http://github.com/a/b', 'file:///github.com/a/b', '../github.com/a/b', 'ext::sh -c github.com:a/b'],
    ['https://github.com/a/b)<script>', 'https://github.com/a/b\n', 'github.com:/a/b', 'https://github./a/b'],
  ])('is unknown for %s, %s, %s and %s', (...remotes) => {
    expect(remotes.filter((remote) => commitsAddress(remote) !== undefined)).toEqual([]);
  });
});
