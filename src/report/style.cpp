#include "report/style.hpp"

namespace covary {

// Colours are variables: dark changes them on screens alone, so that print is always light. The
// hues are apart for the colour-blind (after Okabe & Ito), and no meaning is in colour alone.
const char* const page_style = R"css(
:root{color-scheme:light dark;--paper:#fff;--text:#1b1f24;--soft:#57606a;--rule:#d5dae0;--grid:#e8ebef;--tint:#f4f6f8;
--link:#0a58ad;--alert:#8a3b00;--alert-tint:#fff4e8;--blue:#0b62b8;--sky:#3a9bdc;--orange:#c65a00;--green:#00785a;
--pink:#b5478a;--gold:#8a6d00;--ink:var(--blue)}
@media screen and (prefers-color-scheme:dark){:root{--paper:#14181d;--text:#e4e8ec;--soft:#a4aeb9;--rule:#3a424c;
--grid:#2a3038;--tint:#1d232a;--link:#7db8f5;--alert:#ffb27a;--alert-tint:#33230f;--blue:#6fb3f5;--sky:#4fc1e8;
--orange:#ff9d4d;--green:#45c9a0;--pink:#ea8fc4;--gold:#e0c04a}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--text);font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,
"Liberation Sans",Arial,sans-serif}
header,main,footer,nav{max-width:62rem;margin:0 auto;padding:0 1rem}
header{padding-top:1.5rem}
h1{font-size:1.7rem;line-height:1.2;margin:0 0 .5rem;overflow-wrap:anywhere}
h2{font-size:1.3rem;line-height:1.25;margin:2.5rem 0 .6rem;padding-top:.6rem;border-top:1px solid var(--rule)}
h3{font-size:1.05rem;margin:1.6rem 0 .4rem;overflow-wrap:anywhere}
p,li{max-width:46rem;overflow-wrap:anywhere}
a{color:var(--link)}
a:focus-visible,[tabindex]:focus-visible{outline:3px solid var(--orange);outline-offset:2px}
.skip{position:absolute;left:-999rem}
.skip:focus{left:1rem;top:.5rem;background:var(--paper);padding:.4rem .8rem;z-index:1}
nav ul{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;margin:.8rem 0 0;padding:0;list-style:none}
nav a{display:inline-block;padding:.25rem 0}
.keys{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:.7rem;margin:1.2rem 0;padding:0}
.keys div{background:var(--tint);border-radius:.5rem;padding:.6rem .8rem}
.keys dt{color:var(--soft);font-size:.85rem;line-height:1.3}
.keys dd{margin:.15rem 0 0;font-size:1.25rem;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.alerts{margin:.6rem 0;padding:.7rem 1rem .7rem 2.2rem;background:var(--alert-tint);border-left:4px solid var(--alert);
border-radius:.2rem}
.scroll{overflow-x:auto;margin:1rem 0}
table{border-collapse:collapse;font-size:.92rem;font-variant-numeric:tabular-nums;min-width:50%}
caption{text-align:left;color:var(--soft);padding-bottom:.4rem}
caption span{display:inline-block;max-width:min(46rem,calc(100vw - 2rem))}
th,td{text-align:left;padding:.32rem .8rem .32rem 0;border-bottom:1px solid var(--grid);vertical-align:top}
thead th{border-bottom:2px solid var(--rule)}
tbody th{font-weight:500}
th.r,td.r{text-align:right;white-space:nowrap}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr));gap:1.4rem 1.6rem;margin:1rem 0}
figure{margin:0;min-width:0;max-width:36rem}
figure.wide{grid-column:1/-1;max-width:none}
figcaption{margin-bottom:.3rem}
figcaption strong{font-weight:600;overflow-wrap:anywhere}
figcaption span{display:block;color:var(--soft);font-size:.88rem;line-height:1.4}
figure>svg{display:block;width:100%;height:auto}
svg text{font-size:12px;fill:var(--text)}
.wide svg text{font-size:11.5px}
svg text.tick{fill:var(--soft);dominant-baseline:central}
svg text.end{text-anchor:end}
svg text.below{text-anchor:middle;dominant-baseline:hanging}
svg text.above{text-anchor:middle;dominant-baseline:auto}
svg text.middle{text-anchor:middle}
.grid{stroke:var(--grid);fill:none}
.frame{fill:none;stroke:var(--rule)}
.data{--ink:var(--text)}.held{--ink:var(--orange)}.mean,.function,.outcome,.a{--ink:var(--blue)}
.draw{--ink:var(--green)}.guide{--ink:var(--soft)}.b{--ink:var(--orange)}.c{--ink:var(--green)}.d{--ink:var(--pink)}
.e{--ink:var(--gold)}.f{--ink:var(--sky)}
path.line{stroke:var(--ink);fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}
path.line.draw{stroke-width:1.1;opacity:.75}
path.line.guide{stroke-width:1.3;stroke-dasharray:5 4;stroke-linecap:butt}
path.line.d{stroke-dasharray:2 3.5}path.line.e{stroke-dasharray:9 3 2 3}
path.rug{stroke-width:1;opacity:.55}
path.band{fill:var(--ink);stroke:none;opacity:.22}
path.band.outcome{opacity:.13}
path.band.guide{opacity:.16}
path.column{opacity:.6;stroke:var(--paper);stroke-width:1}
path.dots{stroke:var(--ink);fill:none;stroke-width:4.5;stroke-linecap:round;opacity:.7}
path.dots.many{stroke-width:3;opacity:.5}
path.dots.held{stroke-linecap:square;stroke-width:3.4;opacity:.65}
.spot,.cross,.half{fill:none;stroke:var(--ink);stroke-linecap:round}
.spot{--rim:#fff}.spot.no{--ink:#261852;--rim:#fff}.spot.yes{--ink:#f5e342;--rim:#1b1f24}.cross,.half{--ink:#fff;--rim:#1b1f24}
path.spot{stroke-width:4}path.spot.rim{stroke-width:6.4}path.spot.many{stroke-width:2.4}path.spot.many.rim{stroke-width:4}
path.cross{stroke-width:1.6}path.cross.rim{stroke-width:3.8}
path.line.half{stroke-width:1.5}path.line.half.rim{stroke-width:3.2}path.rim{stroke:var(--rim)}
.bar{fill:var(--blue)}
.image{shape-rendering:crispEdges}
.legend{display:flex;flex-wrap:wrap;gap:.1rem 1.1rem;margin:.3rem 0 0;padding:0;list-style:none;font-size:.88rem;
color:var(--soft)}
.legend li{display:flex;align-items:center;gap:.45rem}
.key{flex:none;width:1.5rem;height:3px;border-radius:2px;background:var(--ink);print-color-adjust:exact;
-webkit-print-color-adjust:exact}
.key.line.draw{height:1px}
.key.line.guide,.key.line.d,.key.line.e{height:0;border-radius:0;background:none;border-top:2px dashed var(--ink)}
.key.line.d{border-top-style:dotted}
.key.band{height:.8rem;opacity:.4}
.key.band.outcome,.key.band.guide{opacity:.2}
.key.dots{width:.5rem;height:.5rem;border-radius:50%}
.key.dots.held{border-radius:0}
.key.spot{width:.6rem;height:.6rem;border-radius:50%;box-shadow:0 0 0 1.5px var(--rim),0 0 0 2px var(--soft)}
.key.half{box-shadow:0 0 0 1px #1b1f24}
.key.cross{width:.7rem;height:.7rem;border-radius:0;background:var(--soft);clip-path:polygon(20% 0,50% 30%,80% 0,100% 20%,
70% 50%,100% 80%,80% 100%,50% 70%,20% 100%,0 80%,30% 50%,0 20%)}
footer{margin-top:3rem;padding-bottom:2rem;color:var(--soft);font-size:.88rem}
@media (max-width:40rem){.wide svg text{font-size:19px}.wide path.line{stroke-width:3}.wide path.dots{stroke-width:6}
.wide path.line.draw{stroke-width:1.8}h1{font-size:1.4rem}}
@media print{:root{color-scheme:light}nav,.skip{display:none}body{font-size:10pt}header,main,footer{max-width:none}h2,h3{break-after:avoid}
figure,tr,.keys,.alerts{break-inside:avoid}.figures{grid-template-columns:1fr 1fr}figure.wide{max-width:16cm}
.scroll{overflow:visible}}
)css";

}  // namespace covary
