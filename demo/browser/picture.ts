/** What a participant sends: a test picture that is drawn here, or the camera. */

const SIZE = { width: 640, height: 360 };
const PICTURES_A_SECOND = 25;

/** Needs no camera: a name, a clock, and something that moves, with a quiet tone. */
export function drawPicture(username: string): MediaStream {
  const canvas = Object.assign(document.createElement('canvas'), SIZE);
  const context = canvas.getContext('2d')!;
  const hue = [...username].reduce((sum, letter) => sum + letter.codePointAt(0)! * 47, 0) % 360;
  const startedAt = performance.now();
  const draw = () => drawAt(context, username, hue, (performance.now() - startedAt) / 1000);
  draw();
  const drawing = setInterval(draw, 1000 / PICTURES_A_SECOND);
  const stream = new MediaStream([...canvas.captureStream(PICTURES_A_SECOND).getTracks(), ...playTone(hue)]);
  stream.getVideoTracks()[0]!.addEventListener('ended', () => clearInterval(drawing));
  return stream;
}

function drawAt(context: CanvasRenderingContext2D, username: string, hue: number, seconds: number): void {
  const { width, height } = SIZE;
  context.fillStyle = `hsl(${hue} 45% 22%)`;
  context.fillRect(0, 0, width, height);
  for (let bar = 0; bar < 12; bar += 1) {
    const level = (Math.sin(seconds * 2 + bar * 0.9) + 1) / 2;
    const tall = 24 + level * 120;
    context.fillStyle = `hsl(${hue + bar * 6} 65% ${42 + level * 22}%)`;
    context.fillRect(24 + bar * 50, height - tall, 42, tall);
  }
  context.fillStyle = '#ffffff';
  context.font = '700 64px system-ui, sans-serif';
  context.fillText(username, 24, 92, width - 48);
  context.font = '400 32px ui-monospace, monospace';
  context.fillText(`${seconds.toFixed(2)} s`, 24, 144);
}

function playTone(hue: number): MediaStreamTrack[] {
  const sound = new AudioContext();
  const tone = Object.assign(sound.createOscillator(), { type: 'sine' });
  tone.frequency.value = 220 + hue;
  const quiet = sound.createGain();
  quiet.gain.value = 0.04;
  const out = sound.createMediaStreamDestination();
  tone.connect(quiet).connect(out);
  tone.start();
  return out.stream.getTracks();
}

/** Asks the visitor. */
export function openCamera(): Promise<MediaStream> {
  return navigator.mediaDevices.getUserMedia({ audio: true, video: SIZE });
}
