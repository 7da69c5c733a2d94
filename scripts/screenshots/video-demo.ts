/** Pictures of `npm run demo:video`: the host's page with a guest, in light and dark. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openStand } from '../../demo/stand.ts';
import { openBrowser, until, Visitor } from '../../demo/visitor.ts';
import { Opened } from '../../src/run/lifetime.ts';
import { capture } from './camera.ts';
import { LOOKS } from './pictures.ts';

/** Down to the end of the tiles. */
const SCREEN = { width: 1200, height: 860 };
/** So much is sent that the balance has moved. */
const BYTES_SENT = 1_500_000;

export async function takeVideoDemo(folder: string): Promise<void> {
  const opened = new Opened();
  try {
    const stand = await openStand(opened, { host: '127.0.0.1', port: 0 });
    const browser = await openBrowser(opened);
    const host = await Visitor.open(browser, stand, '/', { reducedMotion: 'reduce' });
    await host.signUp();
    await host.pay();
    const link = await host.openRoom();
    await host.join('ann');
    const guest = await Visitor.open(browser, stand, link, { reducedMotion: 'reduce' });
    await guest.join('bob');
    await until('traffic', async () =>
      (await stand.state()).people.every(({ relayed }) => relayed > BYTES_SENT),
    );
    await host.page.setViewportSize(SCREEN);
    for (const look of LOOKS) {
      await host.page.emulateMedia({ colorScheme: look });
      await writeFile(join(folder, `video-${look}.png`), await capture(host.page, SCREEN));
    }
  } finally {
    await opened.closeAll();
  }
}
