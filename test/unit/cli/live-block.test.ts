import { describe, expect, it, test } from 'vitest';
import { createLiveBlock, cutToWidth } from '../../../src/cli/live-block.ts';
import { createScreen } from '../../support/screen.ts';

describe('a live block', () => {
  it('is replaced in place, by more and by fewer lines', () => {
    const screen = createScreen();
    const block = createLiveBlock(screen);
    screen.write('$ rolecall apply\n');
    block.draw(['one']);
    block.draw(['first', 'second', 'third']);
    expect(screen.lines()).toEqual(['$ rolecall apply', 'first', 'second', 'third']);
    block.draw(['1', '2']);
    expect(screen.lines()).toEqual(['$ rolecall apply', '1', '2']);
  });

  it('leaves nothing behind when it is cleared, so that a report follows', () => {
    const screen = createScreen();
    const block = createLiveBlock(screen);
    screen.write('$ rolecall apply\n');
    block.draw(['first', 'second']);
    block.clear();
    block.clear();
    screen.write('the report\n');
    expect(screen.lines()).toEqual(['$ rolecall apply', 'the report']);
  });

  it('is written only when it changes', () => {
    const screen = createScreen();
    const block = createLiveBlock(screen);
    block.draw(['same']);
    block.draw(['same']);
    expect(screen.written).toHaveLength(1);
    block.clear();
    block.draw(['same']);
    expect(screen.lines()).toEqual(['same']);
  });

  it('never reaches the last column and never fills the screen', () => {
    const screen = createScreen(10, 4);
    createLiveBlock(screen).draw(['0123456789', 'b', 'c', 'd', 'e']);
    expect(screen.lines()).toEqual(['01234567…', 'b', 'c']);
  });

  it('is removed completely after the terminal became narrower', () => {
    const narrowed = { ...createScreen(10), columns: 40 };
    const block = createLiveBlock(narrowed);
    narrowed.write('above\n');
    block.draw(['a line of 24 characters.']);
    narrowed.columns = 10;
    block.clear();
    expect(narrowed.lines()).toEqual(['above']);
  });
});

test.each([
  ['short', 10, 'short'],
  ['exactly 10', 10, 'exactly 10'],
  ['more than 10', 10, 'more than…'],
  ['日本語の名前', 7, '日本語…'],
  ['👩‍👩‍👧‍👦👩‍👩‍👧‍👦', 3, '👩‍👩‍👧‍👦…'],
])('“%s” is cut to %i columns as “%s”', (text, width, cut) => {
  expect(cutToWidth(text, width)).toBe(cut);
});
